module example.org/money
