package org.shop;

import java.util.List;
import org.shop.store.Store;
import static org.shop.util.Texts.join;
import org.shop.model.Order.Line;
// import org.shop.Never;
/*
import org.shop.Never;
*/

public class Main {
    Helper helper;
}
