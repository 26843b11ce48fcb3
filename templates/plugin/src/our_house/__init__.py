"""Parts of our house for Theodolite."""
