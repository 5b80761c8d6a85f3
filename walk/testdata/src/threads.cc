// 300 threads, or as many as the argument says, each waiting at another depth;
// then the main thread crashes.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "common.h"

static std::mutex lock;
static std::condition_variable never;
static std::atomic<int> waiting;

static NOINLINE int wait(int depth) {
	if (depth > 0) {
		int below = wait(depth - 1);
		after(below);
		return below + 1;
	}
	std::unique_lock<std::mutex> held(lock);
	++waiting;
	never.wait(held, [] { return zero != 0; });
	return 0;
}

int main(int argc, char **argv) {
	int count = argc > 1 ? atoi(argv[1]) : 300;
	std::vector<std::thread> threads;
	for (int i = 0; i < count; i++)
		threads.emplace_back([i] { after(wait(10 + i % 50)); });
	while (waiting < count)
		std::this_thread::yield();
	std::lock_guard<std::mutex> held(lock);
	die();
}
