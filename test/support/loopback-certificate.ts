/**
 * A certificate of 127.0.0.1 that signs itself, with its key, which is no secret: for tests on loopback only.
 * Made by
 * `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -addext subjectAltName=IP:127.0.0.1,DNS:localhost`.
 */
export const loopbackTls = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBpzCCAU2gAwIBAgIUDASJLZoX/g6ZCEE7KcUSHSQfPxMwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPcmFua3dlYXZlIHRlc3RzMCAXDTI2MTEyMzA4NTcxMFoYDzIx
MjYxMDMwMDg1NzEwWjAaMRgwFgYDVQQDDA9yYW5rd2VhdmUgdGVzdHMwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAARrxNi2WOwsqFZA3Qgl3BK8rWa9LPEm/Mzo96W0
Ls08UduWhkxpp68MAv+lQtB7HMNSrSlvR+bZrPOsvnUxHghRo28wbTAdBgNVHQ4E
FgQUTz75aH2NZ4yu4GfcPXxW2DzY13MwHwYDVR0jBBgwFoAUTz75aH2NZ4yu4Gfc
PXxW2DzY13MwDwYDVR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2Nh
bGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIgWAO79jZdsNDA3CMqXodxa9Mq/p6VE7rV
QHe26VcCOMkCIQDW/8+VWg5N6kQT9ornsQLzQR0joMsQEII5uuldV2pbhw==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLDSjrXwywDYIKvc9
sZ+JWeSuWqOq2I/cURVbXGt1JsihRANCAARrxNi2WOwsqFZA3Qgl3BK8rWa9LPEm
/Mzo96W0Ls08UduWhkxpp68MAv+lQtB7HMNSrSlvR+bZrPOsvnUxHghR
-----END PRIVATE KEY-----
`,
}
