# slice Counter.count: Counter().count("a + b * 2")
import ast


class Counter(ast.NodeVisitor):
    def __init__(self):
        self.found = []

    def visit_Name(self, node):
        self.found.append(node.id)

    def visit_BinOp(self, node):
        self.found.append(type(node.op).__name__)
        self.generic_visit(node)

    def count(self, text):
        self.visit(ast.parse(text))
        return self.found
