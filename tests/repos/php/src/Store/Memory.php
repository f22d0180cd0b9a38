<?php
class Memory {}
