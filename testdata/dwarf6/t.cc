namespace n { struct A { int v; int get() const { return v*2; } int out(int); };
template<class T> T mul(T a, T b){ return a*b; } }
int n::A::out(int q){ if (__builtin_expect(q>3,0)) { for(int i=0;i<q;i++) v+=i*get(); } return mul(q,get()); }
int use(n::A&a,int x){ return a.out(x)+n::mul<int>(x,3); }
