// Names of Swift: an extension's method and operator, a local function, accessors, a closure, a generic
// function and what the compiler derives from them.
infix operator +++ : AdditionPrecedence

extension Int {
    func cubed() -> Int { self * self * self }
    static func +++ (left: Int, right: Int) -> Int { left &+ right }
}

protocol Shape { func area(scale: Int) -> Int }

final class Box<Value>: Shape {
    var side: Int { didSet { print(side) } }
    let value: Value
    init(side: Int, value: Value) { self.side = side; self.value = value }
    func area(scale: Int) -> Int {
        func inner(_ n: Int) -> Int { n +++ scale.cubed() }
        return [side].map { inner($0) }[0]
    }
}

func largest<T: Comparable>(_ a: T, _ b: T) -> T { a < b ? b : a }

@main struct Main {
    static func main() async throws {
        let box = Box(side: 3, value: "x")
        box.side += 1
        print(largest(box.area(scale: 2), 5), await later(box.value))
    }
    static func later(_ text: String) async -> Int { await Task.yield(); return text.count }
}
