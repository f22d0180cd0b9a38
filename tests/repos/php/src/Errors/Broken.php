<?php
class Broken {}
