"""Pages of the application teams."""
