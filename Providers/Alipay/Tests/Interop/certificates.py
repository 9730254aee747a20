"""Says by which numbers `python-alipay-sdk` names certificates in a request.

Arguments: the application's certificate, the root file. Writes both numbers.
"""

import pathlib
import sys

from alipay import DCAliPay

application, roots = (pathlib.Path(path).read_text() for path in sys.argv[1:3])
print(DCAliPay.get_cert_sn(application), DCAliPay.get_root_cert_sn(roots))
