int open_store(int count);
