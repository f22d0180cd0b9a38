package main

import (
	"fmt"

	st "example.org/shop/store"
	// "example.org/shop/never"
	"example.org/money/cents"
)

func main() { fmt.Println(st.Open(), cents.Zero) }
