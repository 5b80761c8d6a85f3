//! <b>bold</b> & "quoted"
#![no_std]

#[no_mangle]
pub fn embedded(values: &mut [i32]) -> usize {
    for (i, value) in values.iter_mut().enumerate() {
        *value = i as i32;
    }
    values.len()
}
