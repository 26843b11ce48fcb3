"""Pages of the teams whose applications are tested."""
