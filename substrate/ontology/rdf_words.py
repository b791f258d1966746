"""Names that reading and writing RDF share."""

from __future__ import annotations

OURS = "urn:twoclocks:ontology#"
"""What OWL has no word for: the key of a term, how a relation lives in time, the unit of an attribute, and so on."""
TERM = "urn:twoclocks:term:"
"""The IRI of a term that has none of its own, followed by its key."""
XSD = "http://www.w3.org/2001/XMLSchema#"
DATATYPES = {"text": "string", "number": "decimal", "money": "decimal", "date": "date", "bool": "boolean"}
"""What each datatype of ours is in XML Schema."""
READ_AS = {
    **dict.fromkeys(
        ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN", "anyURI", "base64Binary",
         "hexBinary", "duration", "dayTimeDuration", "yearMonthDuration"), "text"),
    **dict.fromkeys(
        ("decimal", "integer", "int", "long", "short", "byte", "float", "double", "nonNegativeInteger",
         "positiveInteger", "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort",
         "unsignedByte"), "number"),
    **dict.fromkeys(("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth", "time", "gMonth", "gDay",
                     "gMonthDay"), "date"),
    "boolean": "bool",
}  # fmt: skip
"""The datatype of ours for each of XML Schema's."""
FLAGS = {
    "functional": "FunctionalProperty",
    "inverse_functional": "InverseFunctionalProperty",
    "transitive": "TransitiveProperty",
    "symmetric": "SymmetricProperty",
    "asymmetric": "AsymmetricProperty",
    "irreflexive": "IrreflexiveProperty",
}
"""Property of a relation → its class in OWL."""
