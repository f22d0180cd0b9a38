package org.shop;

class Helper {
}
