"""The nouns: frozen, validated records without I/O."""
