package s3

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"symkit/internal/fetch"
	"symkit/internal/smallfile"
)

const (
	// sessions is the session name of an assumed role.
	sessions = "symkit"
	// earlier is the time between the renewal of credentials and their end.
	earlier = 5 * time.Minute
	// machineTime is how long the service of the machine's role may take. Outside of AWS there
	// is no such service, and requests get no answer.
	machineTime = 5 * time.Second
	// maxRoles bounds the chain of roles that are each assumed with the one before.
	maxRoles = 8
)

// newAccount returns the first credentials that are found in the order of the SDKs.
// Credentials are read at the first request and renewed before they expire. Without
// credentials, requests are not signed.
func newAccount(p profile, client *http.Client) (aws.CredentialsProvider, error) {
	source, err := environment(client)
	if err == nil && source == nil {
		source, err = p.account(client, 0)
	}
	if err == nil && source == nil {
		source, err = machine(client)
	}
	if err != nil {
		return nil, err
	}
	return aws.NewCredentialsCache(source, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = earlier }), nil
}

// environment returns the credentials that variables hold, or nil.
func environment(client *http.Client) (aws.CredentialsProvider, error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if id != "" && secret != "" {
		return credentials.NewStaticCredentialsProvider(id, secret, os.Getenv("AWS_SESSION_TOKEN")), nil
	}
	if id != "" || secret != "" {
		return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: one is missing")
	}
	token, role := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), os.Getenv("AWS_ROLE_ARN")
	if token != "" && role != "" {
		r := &assumed{client: client, region: region(nil), role: role, session: os.Getenv("AWS_ROLE_SESSION_NAME"), tokenFile: token}
		return r, nil
	}
	return nil, nil
}

// machine returns the credentials of the container's or the machine's role.
func machine(client *http.Client) (aws.CredentialsProvider, error) {
	full := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if relative := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); relative != "" {
		full = "http://169.254.170.2" + relative
	}
	switch {
	case full != "":
		return endpointcreds.New(full, func(o *endpointcreds.Options) {
			o.HTTPClient, o.AuthorizationToken = client, os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
			if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
				o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
					token, err := smallfile.Read(file, smallfile.Most)
					return string(token), err
				})
			}
		}), nil
	case strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true"):
		return aws.CredentialsProviderFunc(unsigned), nil
	}

	role := ec2rolecreds.New()
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		ctx, cancel := context.WithTimeout(ctx, machineTime)
		defer cancel()
		keys, err := role.Retrieve(ctx)
		if err != nil {
			return unsigned(ctx)
		}
		return keys, nil
	}), nil
}

// unsigned returns credentials without a key, with which requests are not signed: public buckets
// need no signature.
func unsigned(context.Context) (aws.Credentials, error) { return aws.Credentials{Source: "none"}, nil }

// account returns the credentials that a profile describes, or nil. A profile may take a
// role with those of another profile, and so on.
func (p profile) account(client *http.Client, depth int) (aws.CredentialsProvider, error) {
	role := p["role_arn"]
	switch {
	case depth > maxRoles:
		return nil, errors.New("AWS profiles refer to each other without end (source_profile)")
	case role != "" && p["web_identity_token_file"] != "":
		return &assumed{client: client, region: region(p), role: role, session: p["role_session_name"], tokenFile: p["web_identity_token_file"]}, nil
	case role != "":
		base, err := p.source(client, depth)
		if err != nil {
			return nil, err
		}
		return &assumed{client: client, region: region(p), role: role, session: p["role_session_name"], external: p["external_id"], base: base}, nil
	case p["aws_access_key_id"] != "":
		return credentials.NewStaticCredentialsProvider(p["aws_access_key_id"], p["aws_secret_access_key"], p["aws_session_token"]), nil
	case p["credential_process"] != "":
		return processcreds.NewProvider(p["credential_process"]), nil
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		return nil, errors.New("the AWS profile signs in with SSO: run eval \"$(aws configure export-credentials --format env)\" first")
	}
	return nil, nil
}

// source returns the credentials with which a profile takes its role.
func (p profile) source(client *http.Client, depth int) (aws.CredentialsProvider, error) {
	switch p["credential_source"] {
	case "Environment":
		source, err := environment(client)
		if err == nil && source == nil {
			err = errors.New("credential_source = Environment: AWS_ACCESS_KEY_ID is not set")
		}
		return source, err
	case "Ec2InstanceMetadata", "EcsContainer":
		return machine(client)
	}
	name := p["source_profile"]
	if name == "" {
		return nil, errors.New("the AWS profile has a role_arn, but neither source_profile nor credential_source")
	}
	other, err := readNamed(name)
	if err != nil {
		return nil, err
	}

	// A profile that is its own source has keys besides the role.
	if other["role_arn"] == p["role_arn"] {
		delete(other, "role_arn")
	}
	source, err := other.account(client, depth+1)
	if err == nil && source == nil {
		err = fmt.Errorf("source_profile %s: no credentials", name)
	}
	return source, err
}

// assumed is a role that AWS's token service gives to the bearer of a token, or to
// another account.
type assumed struct {
	client    *http.Client
	region    string
	role      string
	session   string
	external  string
	tokenFile string                  // or
	base      aws.CredentialsProvider // the other account
}

// Retrieve implements aws.CredentialsProvider.
func (a *assumed) Retrieve(ctx context.Context) (keys aws.Credentials, err error) {
	form := url.Values{"Version": {"2011-06-15"}, "RoleArn": {a.role}, "RoleSessionName": {cmp.Or(a.session, sessions)}}
	if a.tokenFile != "" {
		token, err := smallfile.Read(a.tokenFile, smallfile.Most) // anew each time, because tokens expire
		if err != nil {
			return keys, err
		}
		form.Set("Action", "AssumeRoleWithWebIdentity")
		form.Set("WebIdentityToken", strings.TrimSpace(string(token)))
	} else {
		form.Set("Action", "AssumeRole")
		if a.external != "" {
			form.Set("ExternalId", a.external)
		}
	}

	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+a.region+domain(a.region))
	text := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint+"/", strings.NewReader(text))
	if err != nil {
		return keys, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if a.base != nil {
		err = a.sign(ctx, req, text)
	}
	if err != nil {
		return keys, err
	}
	return a.ask(req)
}

// sign signs a request with the other account.
func (a *assumed) sign(ctx context.Context, req *http.Request, body string) error {
	base, err := a.base.Retrieve(ctx)
	if err != nil {
		return err
	}
	sum, err := digest(io.NewSectionReader(strings.NewReader(body), 0, int64(len(body))))
	if err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(ctx, base, req, sum, "sts", a.region, time.Now())
}

// ask sends a request to the token service and returns the credentials in the answer.
func (a *assumed) ask(req *http.Request) (keys aws.Credentials, err error) {
	resp, err := fetch.Do(a.client, req)
	if err != nil {
		return keys, fmt.Errorf("role %s: %w", a.role, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return keys, fmt.Errorf("role %s: %w", a.role, err)
	}

	type given struct {
		ID      string    `xml:"AccessKeyId"`
		Secret  string    `xml:"SecretAccessKey"`
		Token   string    `xml:"SessionToken"`
		Expires time.Time `xml:"Expiration"`
	}
	var answer struct {
		Token   given  `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		Role    given  `xml:"AssumeRoleResult>Credentials"`
		Code    string `xml:"Error>Code"`
		Message string `xml:"Error>Message"`
	}
	err = xml.Unmarshal(data, &answer)
	g := cmp.Or(answer.Token, answer.Role)
	if err != nil || g.ID == "" {
		return keys, fmt.Errorf("role %s: the token service answered %s: %s %s", a.role, resp.Status, answer.Code, answer.Message)
	}
	return aws.Credentials{AccessKeyID: g.ID, SecretAccessKey: g.Secret, SessionToken: g.Token, CanExpire: true, Expires: g.Expires, Source: a.role}, nil
}
