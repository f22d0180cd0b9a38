import shop
