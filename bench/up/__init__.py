"""What `make up` costs: memory by process, idle processor time, and how soon a remembered sentence is proposed."""
