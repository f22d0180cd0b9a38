package store

func Open() int { return helper() }
