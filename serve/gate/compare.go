package gate

import (
	"context"

	"symkit/check/rank"
)

// compare says what becomes of a symbol file of a module of which the store has another one.
func compare(ctx context.Context, sent, stored []byte) (v Verdict, why string, err error) {
	better, why, err := rank.Better(ctx, sent, stored)
	switch {
	case err != nil:
		return Refused, "", err
	case better:
		return Better, why, nil
	}
	return Worse, why, nil
}
