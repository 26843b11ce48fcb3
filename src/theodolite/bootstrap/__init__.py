"""Bootstrap: the one place where everything is put together."""
