<?php
class Disk {}
