package org.shop;

class Never {
}
