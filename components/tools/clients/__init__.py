"""Clients of the services that tools use; each speaks its vendor's wire format, and none knows who answers."""
