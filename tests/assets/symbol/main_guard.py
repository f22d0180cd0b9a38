# slice work: work(2)
# without work: main
RATE = 3
LOG = []


def work(hours):
    LOG.append(hours)
    return hours * RATE, LOG


def main():
    work(8)
    print("done")


if __name__ == "__main__":
    main()
