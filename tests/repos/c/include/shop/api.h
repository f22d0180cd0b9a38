#define API 1
