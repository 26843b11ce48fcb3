"""HTTP: connections, requests and answers, whoever is asked."""
