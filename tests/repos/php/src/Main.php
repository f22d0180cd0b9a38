<?php
namespace Shop;

use Shop\Store\{Disk, Memory as Other};
use Shop\Errors\Broken;
// use Shop\Never;
require_once __DIR__ . '/plain.php';

class Main {}
