// Rust names, generics, traits, closures and inlined calls, without the
// standard library so that the file stays small.
#![no_std]
#![allow(static_mut_refs)]

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

static mut TOTAL: i32 = 0;

#[inline(never)]
fn book(amount: i32) -> i32 {
    unsafe {
        TOTAL = TOTAL.wrapping_add(amount);
        TOTAL
    }
}

pub trait Priced {
    fn price(&self) -> i32;
}

pub struct Item<T> {
    value: T,
}

impl Priced for Item<i32> {
    #[inline(never)]
    fn price(&self) -> i32 {
        book(self.value)
    }
}

impl Priced for Item<u8> {
    #[inline(never)]
    fn price(&self) -> i32 {
        book(self.value as i32) + 1
    }
}

#[inline(always)]
fn round_up(price: i32) -> i32 {
    book(price.wrapping_add(7)) & !7
}

#[inline(always)]
fn with_tax(price: i32) -> i32 {
    round_up(price.wrapping_add(price >> 2))
}

#[inline(always)]
fn quote(price: i32) -> i32 {
    with_tax(price).wrapping_add(with_tax(price ^ 1))
}

#[inline(never)]
fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 {
    f(n)
}

#[inline(never)]
fn sum(items: &[&dyn Priced]) -> i32 {
    items.iter().map(|item| quote(item.price())).fold(0, i32::wrapping_add)
}

#[no_mangle]
pub extern "C" fn run(n: i32) -> i32 {
    let items: [&dyn Priced; 2] = [&Item { value: n }, &Item { value: n as u8 }];
    apply(|x| book(x ^ n), n).wrapping_add(sum(&items))
}
