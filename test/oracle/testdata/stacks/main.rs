// A program for the comparison of inline stacks: see oracle_stacks_build_test.go.
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

trait Shape: Send + Sync {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        format!("{:.2}", self.area())
    }
}

struct Circle(f64);
struct Rect<T> {
    w: T,
    h: T,
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        std::f64::consts::PI * self.0.powi(2)
    }
}

impl<T: Into<f64> + Copy + Send + Sync> Shape for Rect<T> {
    fn area(&self) -> f64 {
        self.w.into() * self.h.into()
    }
    fn name(&self) -> String {
        "rect".to_owned()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Token {
    Number(i64),
    Word(String),
    Op(char),
}

#[derive(Debug)]
struct Bad(String);

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad token {:?}", self.0)
    }
}

impl std::error::Error for Bad {}

fn tokens(text: &str) -> Result<Vec<Token>, Bad> {
    text.split_whitespace()
        .map(|word| {
            if let Ok(n) = word.parse::<i64>() {
                Ok(Token::Number(n))
            } else if word.len() == 1 && "+-*/".contains(word) {
                Ok(Token::Op(word.chars().next().unwrap()))
            } else if word.chars().all(char::is_alphabetic) {
                Ok(Token::Word(word.to_lowercase()))
            } else {
                Err(Bad(word.to_string()))
            }
        })
        .collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let mut counts: HashMap<Token, usize> = HashMap::new();
    for t in tokens(&text)? {
        *counts.entry(t).or_default() += 1;
    }
    let sorted: BTreeMap<_, _> = counts.into_iter().collect();
    println!("{sorted:#?}");

    let shapes: Arc<Mutex<Vec<Box<dyn Shape>>>> = Arc::default();
    let (send, receive) = mpsc::channel();
    let workers: Vec<_> = (0..4u8)
        .map(|i| {
            let (shapes, send) = (Arc::clone(&shapes), send.clone());
            thread::spawn(move || {
                let shape: Box<dyn Shape> = if i % 2 == 0 {
                    Box::new(Circle(f64::from(i)))
                } else {
                    Box::new(Rect { w: f32::from(i), h: 2.0 })
                };
                send.send(shape.name()).unwrap();
                shapes.lock().unwrap().push(shape);
            })
        })
        .collect();
    drop(send);
    for w in workers {
        w.join().expect("a worker");
    }
    let mut names: Vec<String> = receive.iter().collect();
    names.sort_unstable();
    let mut shapes = shapes.lock().unwrap();
    shapes.sort_by(|a, b| a.area().total_cmp(&b.area()));
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    println!("{names:?} {total:.3}");
    Ok(())
}
