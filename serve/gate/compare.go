package gate

import (
	"context"

	"symkit/check/rank"
)

// compare says what becomes of a symbol file of a module of which the store has another one.
func compare(ctx context.Context, sent, stored []byte) (v Verdict, why string, err error) {
	ours, err := rank.Of(ctx, sent)
	if err != nil {
		return Worse, "the symbol file in the store stays: this one cannot be read", context.Cause(ctx)
	}
	theirs, err := rank.Of(ctx, stored)
	if err != nil {
		if ctx.Err() != nil {
			return Refused, "", context.Cause(ctx)
		}
		return Better, "the symbol file in the store cannot be read", nil
	}
	sign, why := ours.Compare(theirs)
	switch {
	case sign > 0:
		return Better, "better than the symbol file in the store: " + why, nil
	case sign < 0:
		return Worse, "the symbol file in the store is better, and stays: " + why, nil
	}
	return Worse, "the symbol file in the store is as good, and stays", nil
}
