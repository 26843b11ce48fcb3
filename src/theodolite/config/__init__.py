"""Configuration: study files and settings become domain records."""
