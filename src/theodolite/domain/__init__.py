"""Domain types: frozen, validated records without I/O."""
