package org.shop.model;

public class Order {
    public static class Line {
    }
}
