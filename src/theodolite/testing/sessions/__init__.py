"""Sessions: who says what next, as flows without I/O."""
