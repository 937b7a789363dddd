"""The closed world's services, each in the wire format of the vendor it stands in for."""
