@file:OptIn(kotlin.experimental.ExperimentalNativeApi::class)
package shop
class Item(val name: String, val price: Int) {
    fun total(n: Int): Int = price * n + tax(n)
    private fun tax(n: Int): Int = if (n > 3) error("too many: $name") else n
}
inline fun <T> twice(f: (T) -> T, x: T): T = f(f(x))
interface Shape { fun area(): Double }
data class Circle(val r: Double) : Shape { override fun area() = 3.14 * r * r }
object Registry { val items = mutableListOf<Item>(); fun add(i: Item) { items.add(i) } }
suspend fun later(x: Int): Int = x + 1
@CName("shop_pay") fun pay(n: Int): Int {
    Registry.add(Item("tea", 4))
    return Registry.items.sumOf { it.total(n) } + twice<Int>({ it * 2 }, n) + listOf(Circle(1.0), Circle(2.0)).map(Shape::area).sum().toInt()
}
fun main(args: Array<String>) { println(pay(args.size + 1)); println(pay(5)) }
