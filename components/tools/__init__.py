"""What an investigation can do: the tools, their services, and the rules they keep."""
