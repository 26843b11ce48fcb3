"""Bootstrap: assembles all parts of the program."""
