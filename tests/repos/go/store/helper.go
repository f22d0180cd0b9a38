package store

func helper() int { return 1 }
