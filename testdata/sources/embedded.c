/* <b>bold</b> & "quoted" */
int embedded(volatile int *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = i;
	return n;
}
