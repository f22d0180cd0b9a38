package org.shop.util;

public class Texts {
}
