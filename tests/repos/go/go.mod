module example.org/shop

go 1.20

replace example.org/money => ./libs/money
