// A panic in a closure, with panic=abort.
use std::hint::black_box;

struct Table<T> {
    rows: Vec<T>,
}

impl<T: Copy + Into<u64>> Table<T> {
    #[inline(never)]
    fn sum(&self, last: usize) -> u64 {
        (0..=last).map(|i| self.get(i)).sum()
    }

    #[inline(always)]
    fn get(&self, i: usize) -> u64 {
        self.rows[i].into()
    }
}

fn main() {
    let table = Table { rows: vec![1u32, 2, 3] };
    let n = black_box(7);
    std::thread::spawn(move || println!("{}", table.sum(n))).join().unwrap();
}
