"""What was found, looked up once for all readers: cases, accounts, rates, agreements."""
