"""The demonstration: shipped studies and a seeded event, loaded from shipped files."""
