; nasm and yasm write no sizes. The macro's label and .loop are local, table is data.
section .text
global first:function
global second
first:
    mov eax, 1
.loop:
    dec eax
    jnz .loop
    ret
second:
    push rbx
%macro twice 1
%%again:
    add eax, %1
    dec ebx
    jnz %%again
%endmacro
    twice 3
    twice 4
    pop rbx
    ret
align 16
own:
    nop
    ret
table: dq 1, 2, 3
third:
    call own
    ret
section .text.other exec
last:
    xor eax, eax
    ret
