// gas: labels without .size; mapping symbols divide code from data.
	.text
	.globl first
	.type first, %function
first:
	mov w0, #1
.Lloop:
	subs w0, w0, #1
	b.ne .Lloop
	ldr x1, .Lpool
	ret
.Lpool:
	.quad 1
second:
	mov w0, #2
	ret
table:
	.quad 1, 2, 3
words:
	.quad 4
third:
	bl second
	ret
