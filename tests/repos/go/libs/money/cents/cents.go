package cents

const Zero = 0
