package never
