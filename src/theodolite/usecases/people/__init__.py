"""What people do in an event, as whole steps over the store."""
